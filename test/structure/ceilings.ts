/**
 * What the code may grow to, in characters of code (`code-size.ts`). Each ceiling stands 2 % above what is there: room for repairs.
 * A change that takes code away lowers it. One that needs more room sets it to 2 % above what it leaves, and says why.
 */
export const CEILINGS = {
  /**
   * Code of the source files that a request crosses, by operation (`npm run dev -- trace-files`): of whole files, so that a file which tells
   * one story counts with what this request does not need of it.
   */
  codeOfRequest: { GetResource: 271_600, Media: 205_900, Combined: 313_300 },
  code: { product: 2_168_000, tests: 2_761_000 },
  /**
   * Only ever fewer: interfaces of parameters, and files outside of a parameter's own folders that name it. One of them says what each
   * output can hold (`outputs/output-formats.ts`).
   */
  parameterInterfaces: 20,
  filesNaming: { skip: 18, chapters: 30, subtitles: 27, audio: 13 },
  /** Words of all Markdown files but the changelog. */
  words: 35_300,
};
