export { Api } from './api.ts';
