export { withAccessKey } from './with-access-key.ts';
