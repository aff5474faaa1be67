export { createOriginSecret, createStopTasks } from './custom-resources.ts';
export { createHostStore } from './host-store.ts';
export { createPublicNames, createRegister, type RegisterEvent } from './register.ts';
export { HOST_KEY } from './registration.ts';
export { clientBounds, createStartHost, createStreamTasks } from './stream-tasks.ts';
export { createWakeOnEvent, WAKE_AHEAD, type WakeAheadEvent, wakeAhead } from './wake-ahead.ts';
export { createWakeHost } from './wake-host.ts';
export { createWakeOnStream } from './wake-on-stream.ts';
