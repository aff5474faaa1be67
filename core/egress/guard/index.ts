export { createAddressGuard, type Destination } from './address-guard.ts';
export {
  copyBytes,
  createDialer,
  type Dialer,
  type Lookup,
  pinnedLookup,
  readBufferShareBytes,
  receivedBytes,
  releaseBuffer,
} from './dial.ts';
