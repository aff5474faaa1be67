export { bareHost, createAddressGuard, type Destination, isPublicAddress } from './address-guard.ts';
export {
  copyBytes,
  createDialer,
  type Dialer,
  type Lookup,
  openSocket,
  pinnedLookup,
  readBufferShareBytes,
  receivedBytes,
  releaseBuffer,
} from './dial.ts';
