export { createAddressGuard, type Destination } from './address-guard.ts';
export { copyBytes, releaseBuffer } from './chunk-memory.ts';
export { createDialer, type Dialer, type Lookup, pinnedLookup } from './dial.ts';
export { readBufferShareBytes } from './open-socket.ts';
