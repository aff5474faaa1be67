export { createAddressGuard, type Destination } from './address-guard.ts';
export {
  copyBytes,
  createDialer,
  type Dialer,
  type Lookup,
  pinnedLookup,
  readBufferShareBytes,
  releaseBuffer,
} from './dial.ts';
