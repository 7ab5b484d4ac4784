"""Scripts that were missed at first contact and are right now: cause, line and first patch."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.asking import RUNNING, ask
from benchmarks.scoring import score
from benchmarks.trials import prepare
from tests.case_files import load_case

BATCHES = Path(__file__).parents[1] / "first_contact"
MENDED = [
    "batch5/aliased_grad/agreement_of_two_halves",
    "batch5/detached_loss/tensor_of_three_terms",
    "batch5/manual_tbptt/tide_every_two_back_four",
    "batch5/recurrent_state/numpy_tape_tank_levels",
    "batch5/undetached_target/packet_router_clipped_policy",
    "batch5/shared_subgraph/glyph_map_two_terms",
    "batch5/step_between_backwards/three_assays_one_stem",
    "batch5/stored_graph/loss_scales_callback",
    "batch5/stored_graph/pupil_concept_slots",
    "batch5/undetached_target/sensor_domain_confusion",
    "batch13/starved_parameter/room_filter_hypernetwork",
    "batch16/detached_loss/oven_browning_early_stop",
    "batch22/stored_graph/kite_curriculum_sampler",
    "batch24/step_between_backwards/lichen_record",
    "batch28/recurrent_state/evolving_weights",
    "batch30/forward_outside_loop/colour_transport",
    "batch32/aliased_grad/surgery_between_turbine_tasks",
    "batch32/derived_outside_loop/orthogonal_mixer_cached",
    "batch32/detached_loss/seed_triplets_requires_grad_set",
    "batch32/grad_then_backward/beam_deflection_pinn",
    "batch32/step_between_backwards/greenhouse_sac",
    "batch32/growing_history/codon_attention_epoch_means",
    "batch34/duplicate_backward/cough_sharpness_aware",
    "batch34/inplace_leaf/wider_marathon_model",
    "batch34/missing_zero_grad/tram_delay_quantiles",
    "batch34/unused_parameter/gradnorm_silage",
    "batch34/recurrent_state/unchain_sunspots",
    "batch34/step_between_backwards/thermometer_cycle",
    "batch35/stored_graph/road_events_memory",
    "batch35/undetached_target/soundscape_clusters",
    "batch35/unused_parameter/clay_platelet_forces",
    "batch35/starved_parameter/label_photo_contrast",
    "batch37/aliased_grad/diffgrad_tyre_wear",
    "batch37/leaf_rebound/cider_press_polynomials",
    "batch37/retain_graph_leak/whale_codas",
    "batch39/growing_history/puffin_burrow_detector",
    "batch39/retain_graph_leak/seed_catalogue_profiles",
    "batch39/unused_parameter/moored_buoy_hamiltonian",
    "batch41/derived_outside_loop/reservoir_kriging",
    "batch41/starved_parameter/lidar_mount_angle",
    "batch43/derived_outside_loop/clay_pot_scanner",
    "batch45/aliased_grad/surgery_two_tasks",
    "batch45/starved_parameter/filter_hypernet",
    "batch49/aliased_grad/wheat_trait_surgery",
    "batch49/inplace_view/mri_site_harmoniser",
    "batch49/missing_zero_grad/grasp_sign_momentum",
    "batch49/per_sample_loop/case_tagger",
    "batch49/starved_parameter/speech_unit_vq",
    "batch49/step_between_backwards/hexapod_world_model",
    "batch49/undetached_target/phase_to_fluorescence",
    "batch49/lbfgs_closure/piano_string_modes",
    "batch51/accumulated_loss/parcel_snapshots",
    "batch51/retain_graph_leak/gesture_lif",
    "batch52/starved_parameter/equilibrium_crystal",
    "batch52/undetached_target/tennis_lambda_returns",
    "batch53/inplace_leaf/finger_stiffness",
    "batch54/derived_outside_loop/lj_mixing_table",
    "batch56/deepcopy_nonleaf/ward_fedavg",
    "batch56/grad_then_backward/shearwater_ffjord",
    "batch58/aliased_grad/fibre_draw_hypergradient",
    "batch58/derived_outside_loop/lemur_gammatone",
    "batch58/stored_graph/pollen_slides_rehearsal",
    "batch60/missing_zero_grad/pgd_hardening",
    "batch60/starved_parameter/siam_tiles",
    "batch62/per_sample_loop/scan_align",
    "batch62/starved_parameter/hospital_mix",
    "batch62/stored_graph/nowcast",
    "batch64/derived_outside_loop/pose_rays",
    "batch64/manual_tbptt/chorale_windows",
    "batch64/numpy_on_grad/cox_risk",
    "batch64/starved_parameter/item_response",
    "batch64/undetached_target/parcel_tours",
    "batch66/aliased_grad/tracin_reweight",
    "batch66/per_sample_loop/smiles_policy",
    "batch66/stored_graph/card_stream",
    "batch68/inplace_state/sir_fit",
    "batch68/undetached_target/chess_selfplay",
    "batch66/undetached_target/slot_dialog_ppo",
    "batch70/per_sample_loop/neural_ants",
    "batch70/starved_parameter/claims_frequency",
    "batch71/accumulated_loss/keyword_meter",
    "batch71/per_sample_loop/listwise_rank",
    "batch71/starved_parameter/expert_merge",
    "batch73/aliased_grad/kiln_sherds_si",
    "batch73/deepcopy_nonleaf/oven_tcn",
    "batch73/detached_loss/accent_swap",
    "batch73/missing_zero_grad/postcard_finetune",
    "batch73/recurrent_state/stitch_memory",
    "batch73/starved_parameter/carpet_checkpointed",
    "batch73/starved_parameter/sonar_depth_window",
    "batch73/step_between_backwards/fused_metre_tagger",
    "batch73/stored_graph/ant_tracks",
    "batch74/aliased_grad/median_of_hospitals",
    "batch74/engine/two_heads_of_a_numpy_perceptron",
    "batch74/growing_history/lichen_shadow_weights",
    "batch74/missing_zero_grad/kilim_one_step_student",
    "batch75/notebook_rerun/village_bigrams.ipynb",
    "batch75/starved_parameter/pellet_bones",
    "batch76/aliased_grad/pottery_agem",
    "batch76/growing_history/rope_wear_validation",
    "batch76/starved_parameter/grey_box_greenhouse",
    "batch77/detached_loss/glider_world_model",
    "batch79/detached_loss/tea_seasons",
    "batch79/higher_order/zeolite_forces",
    "batch79/missing_zero_grad/seedling_sam",
    "batch79/starved_parameter/violin_rooms",
    "batch79/stored_graph/lock_keeper_ppo",
    "batch79/undetached_target/orchard_successor",
    "batch81/forward_outside_loop/caravan_clipped",
    "batch81/shared_subgraph/solvent_surgery",
    "batch82/undetached_target/bark_beetle_exits",
    "batch83/missing_zero_grad/reed_organ_sam",
    "batch83/shared_subgraph/quarry_dust",
    "batch87/detached_loss/glacier_mass_func",
    "batch89/detached_loss/espresso_profile",
    "batch89/stored_graph/adhesive_recipes",
]


@pytest.mark.parametrize("name", MENDED)
async def test_a_stranger_that_was_missed_is_right_now(name: str) -> None:
    path = BATCHES / name
    case = load_case(path if path.exists() else path.with_suffix(".py"))
    trial = prepare(case, baselines=False)
    found = (await ask([trial.request], [RUNNING]))[RUNNING][0]
    judged = score(trial, found)
    assert judged.pattern, judged.wrong
    assert judged.place, judged.wrong
    assert judged.patch, judged.wrong
