// An enrolled item may take away another before its time. Gone since Node 24.
import timers from 'node:timers';
import { mustCall, mustNotCall } from './must-call.mjs';

if (timers.enroll !== undefined) {
  const later = { _onTimeout: mustNotCall() };
  const sooner = { _onTimeout: mustCall(() => timers.unenroll(later)) };
  timers.enroll(sooner, 1);
  timers._unrefActive(sooner);
  timers.enroll(later, 50);
  timers._unrefActive(later);
  setTimeout(mustCall(), 100);
}
