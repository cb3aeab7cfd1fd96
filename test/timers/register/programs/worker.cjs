require('node:timers').setTimeout(() => import('./worker.mjs'), 1);
