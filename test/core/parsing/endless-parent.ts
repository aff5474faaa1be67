import { join } from 'node:path';
import { createParsingProcess } from '../../../core/parsing/parsing-process.ts';

/** A program whose parsing process never ends its task. */
setInterval(() => undefined, 1000);
await createParsingProcess({ timeoutMs: 1e6, program: join(import.meta.dirname, 'program.ts') }).run({
  name: 'loop',
  input: 0,
});
