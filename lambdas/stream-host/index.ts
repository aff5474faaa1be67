export { clientBounds, createHostService, type HostService } from './host-service.ts';
export { createHostStore, type HostStore } from './host-store.ts';
export { createOriginSecret } from './origin-secret.ts';
export { createOnHostEvent, createPublicName, HOST_KEY } from './register.ts';
export { wakeAhead } from './wake-ahead.ts';
export { createWakeOnStream } from './wake-on-stream.ts';
