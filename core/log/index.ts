export { describeError, fieldsWithoutSecrets, type Log, silentLog, withoutSecrets } from './log.ts';
export { publishStep, type Step, steps, traceStep } from './steps.ts';
