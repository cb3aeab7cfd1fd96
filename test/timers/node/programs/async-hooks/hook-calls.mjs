import { createHook } from 'node:async_hooks';

/** The calls of async hooks for every resource of a type that comes from here on, in order: one record for each. */
export function recordHooks(type) {
  const records = [];
  const count = (event) => (asyncId) => {
    const record = records.find((one) => one.asyncId === asyncId);
    if (record !== undefined) record[event] = (record[event] ?? 0) + 1;
  };
  const hook = createHook({
    init(asyncId, itsType, triggerAsyncId, resource) {
      if (itsType === type) records.push({ asyncId, triggerAsyncId, resource, init: 1 });
    },
    before: count('before'),
    after: count('after'),
    destroy: count('destroy'),
  }).enable();
  return { records, hook };
}

/** What hooks have seen of a resource. */
export const callsOf = ({ init, before, after, destroy }) => ({ init, before, after, destroy });
