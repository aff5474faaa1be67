export { createAddressGuard, type Destination } from './address-guard.ts';
export { copyOf, releaseBuffer } from './chunk-memory.ts';
export { createDialer, type Dialer, type Lookup, pinned } from './dial.ts';
export { shareOfReads } from './open-socket.ts';
