-- Whether an image has several frames. Unknown for images from before.
alter table assets add column animated boolean;
