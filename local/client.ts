/** `reelay LINK`, as the package and the image have it. */
import { runProgram } from '../clients/reelay-client/src/cli/index.ts';
import packageFile from '../package.json' with { type: 'json' };

await runProgram(packageFile.version);
