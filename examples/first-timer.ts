import { createScheduler } from 'shardwheel';

const scheduler = createScheduler();
const cut = (name: string) => console.log(`${name}: idle, cut`);

const idle = scheduler.scheduleAfter('connection 1', 50, cut, 'connection 1');
const request = scheduler.scheduleAfter('connection 1', 20, () => console.log('never printed'));
console.log('moved:', scheduler.rescheduleAfter(idle, 100), 'cancelled:', scheduler.cancel(request));
