import { ParsingLimitExceeded } from '../../../../core/errors/index.ts';
import { UnsupportedMp4 } from '../../../../core/media/isobmff/index.ts';
import { type ParsingOptions, type ParsingTask, parse } from '../../../../core/parsing/index.ts';

/** As `parse`, for MP4 files. @throws UnsupportedMp4 beyond the limits of parsing too, and what `parse` throws else */
export const parseMp4 = <Input, Output>(
  task: ParsingTask<Input, Output>,
  input: NoInfer<Input>,
  options: ParsingOptions,
): Promise<Output> =>
  parse(task, input, options).catch((error) => {
    if (error instanceof ParsingLimitExceeded) throw new UnsupportedMp4('Too complex', { cause: error });
    throw error;
  });
