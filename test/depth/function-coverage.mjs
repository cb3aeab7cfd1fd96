import { Session } from 'node:inspector';

/**
 * Which functions of a folder have run, and how often, by V8's precise coverage. A function without a name is known by
 * its place in the file; a module's body, which runs when it is loaded, is left out.
 */
export class FunctionCoverage {
  #session = new Session();
  #folder;

  /** `folder`: its URL, with a slash at the end. */
  constructor(folder) {
    this.#folder = folder;
    this.#session.connect();
    this.#post('Profiler.enable');
    this.#post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  /**
   * Returns `{ file, at, name, calls }` for each function that has run since the last call of this; `at`: its place.
   */
  take() {
    return this.#post('Profiler.takePreciseCoverage').result.flatMap(({ url, functions }) =>
      url.startsWith(this.#folder) ? calledOf(url.slice(this.#folder.length), functions) : [],
    );
  }

  /** A session in its own thread answers within the call. */
  #post(method, parameters) {
    let answer;
    this.#session.post(method, parameters, (error, result) => {
      if (error !== null) throw new Error(`${method}: ${error.message}`);
      answer = result;
    });
    return answer;
  }
}

const calledOf = (file, functions) =>
  functions
    .filter(({ ranges: [{ startOffset, count }] }) => startOffset > 0 && count > 0)
    .map(({ functionName, ranges: [{ startOffset, count }] }) => ({
      file,
      at: startOffset,
      name: functionName || `at character ${startOffset}`,
      calls: count,
    }));
