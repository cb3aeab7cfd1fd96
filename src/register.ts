import { register, unregister } from './timers/registration.ts';

register();

export { register, unregister };
