export { duration, plausibleDuration } from './duration.ts';
export { parsePythonJson, positiveInteger, positiveNumber, withoutAbsent } from './values.ts';
