export { clientBounds, createHostService, createHostStore, type HostService, type HostStore } from './host.ts';
export { createOnHostEvent, createPublicName, HOST_KEY, registrationOf } from './register.ts';
export { createWakeOnStream, wakeAhead } from './wake.ts';
