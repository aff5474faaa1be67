import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

const CODE_FILE = /\.(?:ts|tsx|css|py|mjs|js|html)$/;
const GENERATED = /api-types\.ts$/;
const COMMENT_LINE = /^\s*(?:\/\/|\*|\/\*|#(?!!)|""")/;

const FOLDERS = [
  'core',
  'lambdas',
  'stream-service',
  'layers',
  'infra',
  'local',
  'web',
  'scripts',
  'clients',
  'packages',
  'bench',
  'test',
];
/** Packages have their tests beside them. */
const TEST_FILE = /(?:^|\/)test\//;

/** Characters of code of a part: neither white space nor lines of comments, so the layout of the code does not count. */
export function codeOfPart(part: 'product' | 'tests'): number {
  return codeOfFiles(
    filesBelow(FOLDERS, CODE_FILE).filter(
      (file) => !GENERATED.test(file) && TEST_FILE.test(file) === (part === 'tests'),
    ),
  );
}

/** @param files relative to the repository */
export function codeOfFiles(files: readonly string[]): number {
  const size = (file: string) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .filter((line) => !COMMENT_LINE.test(line))
      .reduce((sum, line) => sum + line.replaceAll(/\s/g, '').length, 0);
  return files.reduce((sum, file) => sum + size(file), 0);
}

/** Interfaces that carry what is asked of a stream through `stream-service` and `core/api`, by their names. */
export function parameterInterfaces(): number {
  const named = /^(?:export )?interface \w*(?:Parameters|Query|Request|Extras|Choice|Plan|Wanted)\b/gm;
  return filesBelow(['stream-service', 'core/api'], CODE_FILE).reduce(
    (sum, file) => sum + [...readFileSync(join(ROOT, file), 'utf8').matchAll(named)].length,
    0,
  );
}

/** Parameters of streams: the identifiers that name them, and the folders that they belong to. */
const PARAMETERS = {
  skip: [/\bskip\b/, /^packages\/seekable-media\/src\/parts\/skipping|^stream-service\/sponsorblock/],
  chapters: [/\bchapters?\b/i, /^packages\/seekable-media\/src\/(?:parts\/chapters|text\/text-track)/],
  subtitles: [/\bsubtitles?\b/i, /^packages\/seekable-media\/src\/text\/|^stream-service\/outputs\/text\.ts$/],
  audio: [/\bsounds\b|\bchooseAudio\b|\bChosenAudio\b/, /^stream-service\/outputs\/choose-content/],
} as const;

/** Files of the server outside of a parameter's own folders that name it. */
export function filesNaming(parameter: keyof typeof PARAMETERS): number {
  const [name, own] = PARAMETERS[parameter];
  return productFilesWith(name, ['core', 'packages', 'stream-service', 'lambdas']).filter((file) => !own.test(file))
    .length;
}

/** Files of the product, neither tests nor generated, whose code has it, in the order of their names. */
export const productFilesWith = (pattern: RegExp, folders: readonly string[] = FOLDERS): readonly string[] =>
  filesBelow(folders, /\.tsx?$/)
    .filter((file) => !TEST_FILE.test(file) && !GENERATED.test(file))
    .filter((file) => pattern.test(withoutComments(readFileSync(join(ROOT, file), 'utf8'))))
    .toSorted();

const withoutComments = (code: string): string =>
  code
    .split('\n')
    .filter((line) => !COMMENT_LINE.test(line))
    .join('\n');

/** Words of all Markdown files but the changelog. */
export function wordsOfDocuments(): number {
  return filesBelow(['.'], /\.md$/)
    .filter((file) => !file.includes('CHANGELOG'))
    .reduce((sum, file) => sum + readFileSync(join(ROOT, file), 'utf8').trim().split(/\s+/).length, 0);
}

/** Files below some folders, without what is installed or built. */
function filesBelow(folders: readonly string[], pattern: RegExp): string[] {
  const isSource = (name: string) => !/^(?:node_modules|dist|__pycache__|\.\w.*)$/.test(name);
  return globSync(
    folders.map((folder) => `${folder}/**`),
    { cwd: ROOT, withFileTypes: true, exclude: ({ name }) => !isSource(name) },
  )
    .filter((entry) => entry.isFile() && pattern.test(entry.name))
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)));
}
