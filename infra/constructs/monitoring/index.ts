export { Monitoring } from './monitoring.ts';
