// Clearing nothing does nothing.
for (const clear of [clearTimeout, clearInterval, clearImmediate]) {
  clear(null);
  clear();
}
