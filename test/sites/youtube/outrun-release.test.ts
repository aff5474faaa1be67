import { join } from 'node:path';
import { installedTools, otherYtDlp } from '../../support/installed-tools.ts';
import { patchedYtDlp } from '../../support/patched-yt-dlp.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { addFfmpeg, addYtDlp } from '../../support/tools-folder.ts';
import { describeSite } from '../describe-site.ts';
import { useSite } from '../use-site.ts';
import { watchUrl } from './videos.ts';
import { createYoutube } from './youtube.ts';

const toolsDir = join(await temporaryFolder(), 'tools');
await addYtDlp(toolsDir, patchedYtDlp((await installedTools()).ytDlp, 'www.youtube.com'));
await addYtDlp(toolsDir, await otherYtDlp(), 'yt-dlp-nightly');
await addFfmpeg(toolsDir);

// Each release of the service is another one than yt-dlp alone: the first by its patch.
describeSite(
  'YouTube, which the stable release cannot read',
  useSite(await createYoutube(), { settings: { toolsDir } }),
  [
    {
      title: 'delivers a video by the nightly release',
      url: watchUrl('plainplain1'),
      delivers: {
        ytDlp: ['18', '134', '136', '140', '140-drc', '251'],
        video: ['136+140', '18', '134+140'],
        audio: ['251', '140', '140-drc'],
      },
    },
    {
      title: 'refuses a private video for the reason that the nightly release names',
      url: watchUrl('privatepriv'),
      refuses: { ytDlp: /Private video/, status: 415, type: 'private' },
    },
  ],
);
