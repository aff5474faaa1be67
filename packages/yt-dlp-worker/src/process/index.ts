export { cpuTimeMs, endWithParent, isStopped, killWhenStopped } from './process-end.ts';
export { findOnPath, isExecutable, run } from './program.ts';
export { findPython, type InstallOptions, PYTHON_OF_YT_DLP } from './python.ts';
export { missingFrom, neededCapabilities, type Sandbox } from './sandbox.ts';
export { syscallFilter } from './syscall-filter.ts';
