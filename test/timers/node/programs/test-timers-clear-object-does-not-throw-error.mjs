// Clearing an object that is no timer does nothing.
for (const clear of [clearTimeout, clearInterval, clearImmediate]) clear({});
