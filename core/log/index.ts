export { describeError, fieldsWithoutSecrets, withoutSecrets } from './describe-error.ts';
export { type Log, silentLog } from './log.ts';
