export {
  duration,
  parsePythonJson,
  plausibleDuration,
  positiveInteger,
  positiveNumber,
  withoutAbsent,
} from './values.ts';
