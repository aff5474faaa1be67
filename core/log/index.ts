export { describeError, fieldsWithoutSecrets, type Log, silentLog, withoutSecrets } from './log.ts';
