export { signLink } from './access-key.ts';
export { withAccessKey } from './with-access-key.ts';
