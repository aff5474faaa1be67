export { signLink } from './sign-link.ts';
export { withAccessKey } from './with-access-key.ts';
