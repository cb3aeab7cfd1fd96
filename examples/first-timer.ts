import { createScheduler } from 'shardwheel';

const scheduler = createScheduler({ shards: 1 });

const idle = scheduler.scheduleAfter('connection 1', 50, (name) => console.log(`${name}: idle, cut`), 'connection 1');
const request = scheduler.scheduleAfter('connection 1', 20, () => console.log('never printed'));
console.log('moved:', scheduler.rescheduleAfter(idle, 100), 'cancelled:', scheduler.cancel(request));

scheduler.on('fired', ({ shard, length }) => console.log(`shard ${shard}: a batch of ${length}, no callbacks needed`));
const soon = scheduler.now() + 150;
scheduler.scheduleMany([1, 2, 3], [soon, soon, soon]);
// Nothing to close: with its last timer delivered, the process ends by itself.
