export { wavHeader } from './wav-header.ts';
