-- The file that browsers play: the original, or the rendition beside it. Null: no job has probed the video, or no rendition could be made.
alter table assets add column playback text check (playback in ('original', 'rendition'));
