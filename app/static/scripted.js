// Shows what only works with a script, before the first paint: nothing moves when modules begin.
document.documentElement.classList.add("scripted");
