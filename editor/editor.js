// The form's editor: CodeMirror over a textarea, which stays what the form sends.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration, drawSelection, EditorView, gutterLineClass, GutterMarker,
  keymap, lineNumbers, placeholder,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

// The page's colours: custom properties reach into the shadow tree.
const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.bool, tags.null], color: "var(--carry)" },
  { tag: tags.string, color: "var(--mend)" },
  { tag: tags.number, color: "var(--made)" },
  { tag: tags.definition(tags.function(tags.variableName)), fontWeight: "600" },
  { tag: tags.definition(tags.className), fontWeight: "600" },
]);
const looks = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--raised)", fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--soft)", border: "none" },
  ".cm-placeholder": { color: "var(--soft)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { background: "color-mix(in srgb, var(--focus) 25%, transparent)" },
  ".cm-failing": { backgroundColor: "var(--alarm)", boxShadow: "inset 3px 0 var(--fail)" },
  ".cm-lineNumbers .cm-failing-number": { color: "var(--fail)", fontWeight: "600" },
  ".cm-panels": { backgroundColor: "var(--sunken)", color: "var(--ink)" },
});

const fail = StateEffect.define();
const failingLine = Decoration.line({ class: "cm-failing", attributes: { title: "The traceback ends here" } });
const failingNumber = new (class extends GutterMarker {
  elementClass = "cm-failing-number";
})();
const failing = StateField.define({
  create: () => 0,
  update: (at, change) =>
    change.effects.reduce((line, effect) => (effect.is(fail) ? effect.value : line), at),
  provide: (field) => [
    EditorView.decorations.from(field, (line) => (view) => marked(view.state, line, failingLine)),
    gutterLineClass.compute([field, "doc"], (state) =>
      marked(state, state.field(field), failingNumber)),
  ],
});

function marked(state, line, mark) {
  if (line < 1 || line > state.doc.lines) return RangeSet.empty;
  return RangeSet.of([mark.range(state.doc.line(line).from)]);
}

/**
 * Puts an editor in the place of `area`. Whatever is typed goes into `area`, with its "input"
 * event; what a script puts there is taken over at its "change" event. The editor's styles live in
 * a shadow tree, as constructed sheets, so that the page's content security policy stays as it is.
 */
export function edit(area) {
  const host = document.createElement("div");
  host.className = "editor";
  area.after(host);
  area.hidden = true;
  const root = host.attachShadow({ mode: "open" });
  const label = area.labels[0];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ doc: area.value, extensions: [
      failing, lineNumbers(), history(), drawSelection(), bracketMatching(),
      pythonLanguage, indentUnit.of("    "), EditorState.tabSize.of(4),
      syntaxHighlighting(colours), highlightSelectionMatches(), search({ top: true }), looks,
      placeholder(area.placeholder),
      EditorView.contentAttributes.of({ "aria-label": label.textContent, tabindex: "0" }),
      EditorView.updateListener.of((update) => update.docChanged && told(update.state.doc)),
      // Ctrl+Enter belongs to the form.
      keymap.of([{ key: "Mod-Enter", run: () => true }, indentWithTab,
        ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
    ] }),
  });

  function told(doc) {
    area.value = doc.toString();
    area.dispatchEvent(new Event("input"));
  }
  area.addEventListener("change", () => {
    const { doc } = view.state;
    if (doc.toString() === area.value) return;
    view.dispatch({ changes: { from: 0, to: doc.length, insert: area.value }, selection: { anchor: 0 } });
  });
  label.addEventListener("click", () => view.focus());
  return {
    /** Marks a line, counted from 1, as the one that failed; 0 marks none. */
    mark: (line) => line !== view.state.field(failing) && view.dispatch({ effects: fail.of(line) }),
  };
}
