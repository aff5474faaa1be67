export { duration, plausibleDuration } from './duration.ts';
