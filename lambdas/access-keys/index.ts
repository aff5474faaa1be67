export { createKeyStore } from './key-store.ts';
export { ACCESS_KEY_PREFIX, removeAccessKeys, syncAccessKeys } from './sync-access-keys.ts';
