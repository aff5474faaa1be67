import { join } from 'node:path';
import { runCommand } from '../../scripts/command-line.ts';

const NODE_MODULES = join(import.meta.dirname, '../../node_modules');

/** Checks the types of files, whose packages are beside them. @throws Error with the findings of the compiler */
export function checkTypes(project: string, files: readonly string[], ...more: readonly string[]): Promise<string> {
  const types = ['--typeRoots', join(NODE_MODULES, '@types'), '--types', 'node'];
  const options = ['--ignoreConfig', '--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', ...types];
  const program = join(NODE_MODULES, 'typescript/bin/tsc');
  return runCommand(process.execPath, [program, ...options, ...more, ...files], project);
}
