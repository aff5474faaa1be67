export { cpuTimeMs, endWithParent, isStopped, killWhenStopped, SETPRIV, setprivCommand } from './process-end.ts';
export { findOnPath, isExecutable, run } from './program.ts';
export { findPython, type InstallOptions } from './python.ts';
export { type FilteredProgram, syscallFilter } from './syscall-filter.ts';
