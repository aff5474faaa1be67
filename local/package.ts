#!/usr/bin/env node
/** The program of the package: `reelay` is the service, `reelay LINK` the client. */
import packageFile from '../package.json' with { type: 'json' };
import nodeEnvironment from '../stream-service/node-environment.json' with { type: 'json' };
import nodeFlags from '../stream-service/node-flags.json' with { type: 'json' };
import { supervise } from './supervisor.mjs';

/** What the supervisor starts. */
const SERVICE = 'serve';

const [command] = process.argv.slice(2);
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (command === undefined && (major < 22 || (major === 22 && minor < 19))) {
  process.stderr.write(`Node ${process.versions.node} is too old: the service needs ${packageFile.engines.node}\n`);
  process.exitCode = 1;
} else if (command === undefined)
  supervise(process.execPath, [...nodeFlags, import.meta.filename, SERVICE], {
    restarts: true,
    options: {
      stdio: 'inherit',
      env: { ...nodeEnvironment, ...process.env, REELAY_SUPERVISOR_PID: String(process.pid) },
    },
  });
else if (command === SERVICE) await (await import('./plugin.ts')).runAsProcess();
else await import('./client.ts');
