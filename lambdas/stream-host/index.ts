export { clientBounds, createHostService, createHostStore, type HostService, type HostStore } from './host.ts';
export { createOnHostEvent, createPublicName, HOST_KEY, secretOf } from './register.ts';
export { createWakeOnStream, wakeAhead } from './wake.ts';
