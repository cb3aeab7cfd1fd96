/**
 * Node asks for the working directory when it starts a thread, before any of the thread's own code, and the thread ends
 * where that directory has been deleted. A shard needs none: so it is asked for here first, and there is always one.
 */
try {
  process.cwd();
} catch {
  // It has been deleted.
  process.cwd = () => '/';
}
