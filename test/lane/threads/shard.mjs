// A shard as in a pool's thread, without the pool. Dies when told to.
import { workerData } from 'node:worker_threads';
import { buildShard } from '../../../dist/src/shard/build-shard.js';
import { ShardLoop } from '../../../dist/src/shard/shard-loop.js';

const { setup, rebuild } = workerData;
new ShardLoop(buildShard(setup, rebuild ? 'tables' : 'nothing')).start();
