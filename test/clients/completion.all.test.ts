import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { completionFor } from '../../clients/reelay-client/src/cli/completion.ts';
import { runCommand } from '../../scripts/command-line.ts';
import { itWith } from '../support/clients.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder = '';
beforeAll(async () => {
  folder = await temporaryFolder();
  await writeFile(join(folder, 'film.mp4'), '');
});

async function scriptOf(shell: string): Promise<string> {
  const script = join(folder, `completion.${shell}`);
  await writeFile(script, completionFor(shell));
  return script;
}

/** Calls the registered completion function, as bash does. Where it asks for file names, the call of `compopt` is returned. */
async function inBash(line: string): Promise<string[]> {
  const command = `source "$1"; compopt() { echo "$@"; }
COMP_WORDS=($2); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_reelay; printf '%s\\n' "\${COMPREPLY[@]}"; complete -p reelay-client >/dev/null`;
  const output = await runCommand('bash', ['--norc', '-c', command, 'bash', await scriptOf('bash'), line], folder);
  return output.split('\n').filter(Boolean);
}

async function inFish(line: string): Promise<string[]> {
  const command = `source ${await scriptOf('fish')}; complete -C '${line}'`;
  const output = await runCommand('fish', ['--no-config', '-c', command], folder);
  return output.split('\n').flatMap((completed) => completed.split('\t')[0] || []);
}

/** Presses Tab in an interactive shell, and runs the line, whose words `reelay` prints. */
async function inZsh(line: string): Promise<string[]> {
  const script = await scriptOf('zsh');
  const command = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; autoload -U compinit; compinit -u -D; source ${script}; reelay reelay-client() { print -r -- "<$*>"; exit }'
zpty -w shell '${line}'$'\\t'
while zpty -r shell output; do print -rn -- "$output"; done`;
  const output = await runCommand('zsh', ['-f', '-c', command], folder);
  return [...output.matchAll(/^<(.*)>\r?$/gm)].flatMap(([, words = '']) => words.split(' ').at(-1) || []);
}

describe.each([
  ['bash', inBash],
  ['zsh', inZsh],
  ['fish', inFish],
] as const)('%s completes', (shell, complete) => {
  itWith(shell).each([
    ['an option', 'reelay --qual', '--quality'],
    ['an option behind others', 'reelay --quiet --js', '--json'],
    ['a value', 'reelay -q 108', '1080p'],
    ['a value of a long option', 'reelay --bitrate 32', '320'],
    ['the command of the other package', 'reelay-client --comp', '--completion'],
  ])('%s', async (_, line, completed) => {
    expect(await complete(line)).toEqual([completed]);
  });

  itWith(shell)('files for an output', async () => {
    expect(await complete('reelay -o fil')).toEqual([shell === 'bash' ? '-o default' : 'film.mp4']);
  });
});
