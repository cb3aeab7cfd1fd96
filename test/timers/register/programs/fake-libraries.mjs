// Libraries of fake timers, each by the calls that its documentation names.
import { mock } from 'node:test';
import { install } from '@sinonjs/fake-timers';

const begin = Date.now();

export const fakes = {
  sinon: {
    hasPromises: true,
    install: () => install({ now: begin }),
    tick: (clock, by) => clock.tickAsync(by),
    uninstall: (clock) => clock.uninstall(),
  },
  'sinon-timers-alone': {
    hasPromises: false,
    install: () =>
      install({ now: begin, toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] }),
    tick: (clock, by) => clock.tickAsync(by),
    uninstall: (clock) => clock.uninstall(),
  },
  'node-test': {
    hasPromises: true,
    install: () => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'], now: begin }),
    tick: async (_, by) => {
      for (let past = 0; past < by; past += 10_000) {
        mock.timers.tick(10_000);
        await new Promise((resolve) => process.nextTick(resolve));
      }
    },
    uninstall: () => mock.timers.reset(),
  },
};
