import { join } from 'node:path';
import { beforeAll } from 'vitest';
import { installedTools, otherYtDlp } from '../../support/installed-tools.ts';
import { patchedYtDlp } from '../../support/patched-yt-dlp.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { addFfmpeg, addYtDlp } from '../../support/tools-folder.ts';
import { delivers, describeSite, refuses } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { ALL, watchUrl } from './videos.ts';
import { createYoutube } from './youtube.ts';

const toolsDir = join(await temporaryFolder(), 'tools');
await addYtDlp(toolsDir, patchedYtDlp((await installedTools()).ytDlp, 'www.youtube.com'));
await addYtDlp(toolsDir, await otherYtDlp(), 'yt-dlp-nightly');
await addFfmpeg(toolsDir);

const site = useSite(await createYoutube(), { settings: { toolsDir } });
// The workers of both releases start before the first link that is tested: together they take much of its time.
beforeAll(async () => void (await site.resolve(watchUrl('agecheckage'))));

// Each release of the service is another one than yt-dlp alone: the first by its patch.
describeSite('YouTube, which the stable release cannot read', site, [
  delivers('a video by the nightly release', watchUrl('plainplain1'), ALL),
  refuses('a private video for the reason of the nightly', watchUrl('privatepriv'), /Private video/, '415 private'),
]);
