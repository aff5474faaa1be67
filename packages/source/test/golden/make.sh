#!/bin/sh
# The sources of golden.unit.test.ts: two seconds of made picture and sound. Other builds of FFmpeg write other bytes, so the files are kept.
set -e
cd "$(dirname "$0")"
run() { ffmpeg -v error -y "$@"; }
exact="-fflags +bitexact -flags +bitexact -map_metadata -1"
picture="-f lavfi -i testsrc2=s=64x48:r=10:d=2"
sound="-f lavfi -i sine=440:r=16000:d=2"
run $picture -c:v libx264 -preset veryfast -g 10 -bf 2 -x264-params threads=1:scenecut=0 -b:v 20k $exact video.mp4
run $sound -c:a aac -b:a 16k -ac 1 $exact audio.m4a
run -i video.mp4 -c copy -movflags +frag_keyframe+empty_moov+default_base_moof+global_sidx $exact video-fragments.mp4
run -i audio.m4a -c copy -movflags +empty_moov+default_base_moof+global_sidx -frag_duration 700000 $exact audio-fragments.m4a
run -i video.mp4 -i audio.m4a -c copy $exact both.mp4
run -i both.mp4 -c copy $exact quicktime.mov
list="-c copy -f hls -hls_time 1 -hls_playlist_type vod"
run -i both.mp4 $list $exact -hls_segment_filename 'ts%d.m2t' ts.m3u8
run -i both.mp4 $list $exact -hls_segment_type fmp4 -hls_fmp4_init_filename cmaf.mp4 -hls_segment_filename 'cmaf%d.m4s' cmaf.m3u8
run -i audio.m4a $list $exact -hls_segment_filename 'aac%d.aac' aac.m3u8
run $picture -c:v libvpx-vp9 -b:v 20k -g 10 -cues_to_front 1 $exact video.webm
run $sound -c:a libopus -b:a 16k -ac 1 $exact opus.mp4
run $sound -c:a libopus -b:a 16k -ac 1 -cues_to_front 1 $exact opus.webm
run $sound -c:a ac3 -b:a 32k -ac 1 -ar 48000 $exact ac3.mp4
run $picture $sound -c:v libx265 -preset veryfast -g 10 -x265-params log-level=none:pools=1 -b:v 20k -c:a ac3 -b:a 32k -ac 1 -ar 48000 -f hls -hls_time 1 -hls_playlist_type vod $exact -hls_segment_filename 'hevc%d.m2t' hevc.m3u8
run $sound -c:a libmp3lame -b:a 16k -ac 1 -f hls -hls_time 1 -hls_playlist_type vod $exact -hls_segment_filename 'mp3-%d.m2t' mp3.m3u8
for codec in ac3 eac3; do
  run -f lavfi -i sine=440:r=48000:d=0.3 -c:a $codec -b:a 128k -ac 6 -f hls -hls_time 1 -hls_playlist_type vod $exact -hls_segment_filename "$codec-surround%d.m2t" $codec-surround.m3u8
done
run -i both.mp4 -c copy $exact both.flv
# Beginnings alone.
run $picture $sound -c:v mpeg4 -b:v 20k -c:a pcm_u8 $exact whole.avi
run $sound -c:a pcm_s16be $exact whole.aiff
head -c 6000 whole.avi >head.avi
head -c 100 whole.aiff >head.aiff
rm whole.avi whole.aiff
