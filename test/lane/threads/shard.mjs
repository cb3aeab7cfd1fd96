// A shard as in a pool's thread, without the pool. Dies when told to.
import { workerData } from 'node:worker_threads';
import { buildShard, serveLane } from '../../../dist/src/shard/build-shard.js';
import { ShardLoop } from '../../../dist/src/shard/shard-loop.js';

const { setup, rebuild } = workerData;
const built = buildShard(setup);
for (const lane of setup.lanes) built.shard.admit(serveLane(built, lane, rebuild ? 'tables' : 'nothing').lane);
new ShardLoop(built).start();
