import { expect, it } from 'vitest';
import { missingFrom, type Sandbox } from '../src/process/sandbox.ts';

const ALL: Sandbox = { landlock: 7, seccomp: true };

it.each<[Sandbox | undefined, RegExp[]]>([
  [ALL, []],
  [{ ...ALL, landlock: 4 }, []],
  [{ ...ALL, hasFiles: false }, [/^FFmpeg can read files of this user: .* no libraries of its own$/]],
  [undefined, [/^FFmpeg runs without a sandbox: there is no Perl/]],
  [{ landlock: 0, seccomp: false }, [/^FFmpeg runs without a sandbox: the kernel has neither/]],
  [{ ...ALL, landlock: 0 }, [/can read files .*Linux 5\.13/, /past the egress guard: needs Linux 6\.7$/]],
  [{ landlock: 4, seccomp: false }, [/^FFmpeg can signal .*Linux 6\.12$/, /^system calls of FFmpeg are not filtered$/]],
])('reports what a sandbox of %o lacks: %o', (sandbox, texts) => {
  expect(missingFrom('FFmpeg', sandbox, 'linux')).toEqual(texts.map((text) => expect.stringMatching(text)));
});

it('reports a missing sandbox', () => {
  expect(missingFrom('FFmpeg', ALL, 'darwin')).toEqual(['FFmpeg runs without a sandbox: only Linux has one']);
});
